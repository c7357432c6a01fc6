TABLE = {'a': 1}
SIZE = TABLE['b']
