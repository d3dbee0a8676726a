"""Tables of numbers from CSV, TSV and Parquet files, with a sentence about everything that is not a number.

Only commands read such files. This room may import the check of column names in ``discover.law.names``.
"""

from nalm.cli.tabular.columns import blocks as blocks
from nalm.cli.tabular.columns import header as header
from nalm.cli.tabular.columns import labels as labels
from nalm.cli.tabular.error_columns import Errors as Errors
from nalm.cli.tabular.error_columns import pairs as pairs
from nalm.cli.tabular.error_columns import without_errors as without_errors
from nalm.cli.tabular.files import refuse_overwriting as refuse_overwriting
from nalm.cli.tabular.table import Table as Table
from nalm.cli.tabular.table import read as read
