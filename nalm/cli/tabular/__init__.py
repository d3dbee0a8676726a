"""Tables of numbers from CSV, TSV and Parquet files, with a sentence about everything that is not a number."""

from nalm.cli.tabular.files import shown as shown
from nalm.cli.tabular.table import Table as Table
from nalm.cli.tabular.table import blocks as blocks
from nalm.cli.tabular.table import header as header
from nalm.cli.tabular.table import read as read
