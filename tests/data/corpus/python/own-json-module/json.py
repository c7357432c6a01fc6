import json

VALUE = json.dumps({'own': True})
