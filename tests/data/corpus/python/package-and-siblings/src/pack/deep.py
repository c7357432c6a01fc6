NAME = __name__.rpartition('.')[2]
