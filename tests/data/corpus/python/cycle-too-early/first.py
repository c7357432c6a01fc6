from .second import OTHER

NAME = 'n' + OTHER
