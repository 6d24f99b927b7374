"""The table of cases, the same for all shells.

A case is a command line as typed before Tab, without the program's name, and the words that Tab must offer, without
quotation marks. If the list contains `...`, Tab may offer more words.
"""

# The names and ports that the surroundings in `world.py` have.
REMEMBERED = ["ble:HMSoft", "ble:My Pump", "ble:Zähler"]
SCHEMES = ["serial:", "tcp:", "unix:", "sim:", "replay:"]
SIMULATORS = ["pump", "storm", "led", "peer", "rescue", "raw", "module"]
USB = ["usb:0403:6001", "usb:0403:6001/A50285BI", "usb:1a86:7523", "usb:1a86:7523@1-2.3"]

CASES = [
    # Commands.
    ("stat", ["status"]),
    ("le", ["led"]),
    ("led t", ["toggle"]),
    ("help storm l", ["log"]),
    ("--json scan --wa", ["--watch"]),
    ("nosuch ", []),
    # Options, except those that the line already has.
    ("status --po", ["--port"]),
    ("--port sim:pump status --p", []),
    ("status -", ["--port", "--family", "--json", ...]),
    ("monitor --interval 2s --int", []),
    ("sim storm --ro", ["--rows"]),
    ("serve --id", ["--idle"]),
    # Values.
    ("--family le", ["led"]),
    ("-f ", ["pump", "storm", "led", "peer", "rescue", "raw"]),
    ("scan --family=s", ["--family=storm"]),
    ("console --ends cr", ["cr", "crlf"]),
    ("verify --report j", ["junit", "json"]),
    ("rescue list --category Ro", ["Road Closure"]),
    ("rescue list --category 'Ro", ["Road Closure"]),
    ('rescue list --category "Road ', ["Road Closure"]),
    ("rescue list --category Road\\ C", ["Road Closure"]),
    # Checks, and faults in a list.
    ("verify --only pu", ["pump."]),
    ("--family led verify --only ", ["led."]),
    ("verify --only pump.temp --except pump.st", ["pump.status.", ...]),
    ("verify --as-device --only pump.host.old", ["pump.host.older."]),
    ("sim pump --fault dro", ["drop"]),
    ("sim pump --fault drop,sp", ["drop,split"]),
    ("sim pump --fault drop@st", ["drop@start"]),
    # Endpoints. In bash, a colon begins a new word.
    ("--port ble:HM", ["ble:HMSoft"]),
    ("--port ble:", [*REMEMBERED, "ble:Sprinter"]),
    ("--port=ble:HM", ["--port=ble:HMSoft"]),
    ("--port ble:My\\ P", ["ble:My Pump"]),
    ("--port 'ble:My", ["ble:My Pump"]),
    ("--port ble:Zä", ["ble:Zähler"]),
    ('-p "ble:My P', ["ble:My Pump"]),
    ("--port usb:1a86:", ["usb:1a86:7523", "usb:1a86:7523@1-2.3"]),
    ("--port us", USB),
    ("--port usb:1a86:7523@", ["usb:1a86:7523@1-2.3"]),
    ("--port 'usb:1a86:7523?par", ["usb:1a86:7523?parity="]),
    ("--port /dev/ttyU", ["/dev/ttyUSB0", "/dev/ttyUSB1"]),
    ("--port shared:", ["shared:bench", "shared:pump"]),
    ("-p sim:", [f"sim:{name}" for name in SIMULATORS]),
    ("-p sim:st", ["sim:storm", "sim:storm?"]),
    ("--port 'sim:storm?se", ["sim:storm?seed="]),
    ('--port "sim:storm?seed=7&ec', ["sim:storm?seed=7&echo", "sim:storm?seed=7&echo&"]),
    ("--port sim:storm\\?seed=7\\&ro", ["sim:storm?seed=7&rows="]),
    ("--port 'sim:pump?line-end=l", ["sim:pump?line-end=lf", "sim:pump?line-end=lf&"]),
    ("--port replay:captures/o", ["replay:captures/one.capture"]),
    ("--port 'replay:captures/with", ["replay:captures/with a blank.capture"]),
    ("--port ./pu", ["./pump"]),
    ("--port ", ["/dev/ttyUSB0", "ble:HMSoft", "shared:pump", "usb:1a86:7523", *SCHEMES, ...]),
    # Files, and a running simulator.
    ("replay captures/o", ["captures/one.capture"]),
    ("replay captures/with\\ a", ["captures/with a blank.capture"]),
    ("replay cap", ["captures/"]),
    ("replay ~/no", ["~/notes.txt"]),
    ("replay locked/", []),
    ("--port locked/", []),
    ("sim ctl control te", ["temperature"]),
    ("sim ctl control temperature ", ["water", "skin"]),
    ("sim ctl control probe skin o", ["open"]),
    ("sim ctl control set k", ["knob"]),
    # After '--': a command of pumpctl, or another program; `send` takes neither.
    ("record captures/two.capture -- stat", ["status"]),
    ("sim pump --run -- printe", ["printenv"]),
    ("record captures/two.capture -- printe", ["printenv"]),
    ("send -- printe", []),
    # A separator of the shell begins another command.
    ("status; pumpctl sta", ["status"]),
    ("status | pumpctl --port ble:HM", ["ble:HMSoft"]),
]

# Cases while something fails: the failure, as `World.become` takes it, the line, and the words.
FAILURES = [
    ("no bus", "--port ble:", REMEMBERED),
    ("a bus that hangs", "--port ble:", REMEMBERED),
    ("a bluetoothd that hangs", "--port ble:", REMEMBERED),
    ("no daemon", "--port shared:", []),
    ("a daemon that hangs", "--port shared:", []),
    ("a daemon that hangs", "--port ", ["ble:HMSoft", "shared:", "sim:", ...]),
    ("no files of the user", "--port ble:HM", []),
    ("no pumpctl", "--port ", []),
]
