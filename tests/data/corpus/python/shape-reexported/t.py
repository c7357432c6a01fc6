from .inner import name, transform

__all__ = ['name', 'transform']
