from .first import NAME

OTHER = NAME
