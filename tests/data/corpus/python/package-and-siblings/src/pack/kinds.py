DEFAULT = 'plain'
