def lazy():
    import ctypes.util

    return ctypes.util.find_library('c')
