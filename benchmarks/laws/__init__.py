"""A contest: the ladder beside other regression packages on published cells, compositions and physical laws."""
