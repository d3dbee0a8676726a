"""The ladder beside what a scientist would use instead, on published cells, compositions and physical laws."""
