from .tags import tag
