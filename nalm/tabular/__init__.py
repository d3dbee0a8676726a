"""Tables of numbers from CSV, TSV and Parquet files, with a sentence about everything that is not a number."""

from nalm.tabular.files import shown as shown
from nalm.tabular.table import Table as Table
from nalm.tabular.table import blocks as blocks
from nalm.tabular.table import header as header
from nalm.tabular.table import read as read
