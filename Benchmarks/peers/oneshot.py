"""Print a pump's status and exit, as a script with pyserial does: oneshot.py PORT"""
import re
import sys

import serial

with serial.Serial(sys.argv[1], 9600, timeout=3, exclusive=True) as port:
    port.write(b"STATUS\n")
    line = port.readline().decode()
fields = dict(re.findall(r"(\w+):([^,}]+)", line.removeprefix("STATUS:{")))
print(fields["State"], fields["Speed"], fields["Runtime"], fields["Remaining"], fields["WaterTemp"], fields["SkinTemp"])
