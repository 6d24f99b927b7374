import StrictJSON

/// The rows of the pump, the LED board and the BLE module.
extension VerbRow {
    static let pump = [
        VerbRow(
            .pump, "advance", .says("ON\n"), .passes("1s"), .hears("OK\r\nPUMP:ON\r\n"), .passes("5s"),
            .hears(status(speed: 70))),
        VerbRow(
            .pump, "fault", .does("fault", "twice@always"), .says("OFF\n"), .passes("1s"),
            .hears("OK\r\nPUMP:OFF\r\nOK\r\nPUMP:OFF\r\n")),
        VerbRow(
            .pump, "press", .does("press"), .passes("1s"), .hears("MANUAL:ON\r\n"), .does("press"), .passes("1s"),
            .hears("MANUAL:OFF\r\n")),
        VerbRow(
            .pump, "probe", .does("probe", "skin", "open"), .passes("1s"), .says("TEMP\n"), .passes("1s"),
            .hears("TEMP:{Water:12.0C,Skin:-273.1C}\r\n"), .does("probe", "skin", "sound"), .passes("1s"),
            .says("TEMP\n"), .passes("1s"), .hears("TEMP:{Water:12.0C,Skin:34.5C}\r\n")),
        VerbRow(
            .pump, "reset", .says("ON\n"), .passes("1s"), .hears("OK\r\nPUMP:ON\r\n"), .does("reset"),
            .says("STATUS\n"), .passes("4s"), .hearsNothing, .says("STATUS\n"), .passes("1s"),
            .hears("STATUS:{State:OFF,WaterTemp:12.0C,SkinTemp:34.5C}\r\n")),
        VerbRow(
            .pump, "temperature", .does("temperature", "skin", "41"), .passes("1s"), .says("TEMP\n"), .passes("1s"),
            .hears("TEMP:{Water:12.0C,Skin:41.0C}\r\n")),
        VerbRow(
            .pump, "turn", .says("ON\n"), .passes("1s"), .hears("OK\r\nPUMP:ON\r\n"), .does("turn", "1"), .passes("1s"),
            .says("STATUS\n"), .passes("1s"), .hears(status(speed: 100))),
        VerbRow(
            .pump, "set knob", .says("ON\n"), .passes("1s"), .hears("OK\r\nPUMP:ON\r\n"), .does("set", "knob", "0"),
            .passes("1s"), .says("STATUS\n"), .passes("1s"), .hears(status(speed: 0))),
    ]

    /// The status of a pump that has run for less than a minute.
    private static func status(speed: Int) -> String {
        "STATUS:{State:ON,Speed:\(speed)%,Runtime:0m,Remaining:29m,WaterTemp:12.0C,SkinTemp:34.5C}\r\n"
    }

    static func led(_ carrier: Carrier) -> [VerbRow] { carrier == .terminal ? ledOnTerminal : ledOnRadio }

    private static let ledOnTerminal = [
        VerbRow(.led, "advance", .says("LED\n"), .hearsNothing, .passes("10ms"), .hears("LED:0\r\n")),
        VerbRow(
            .led, "fault", .does("fault", "duplicate@always"), .says("LED\n"), .passes("1s"),
            .hears("LED:0\r\nLED:0\r\n")),
        VerbRow(
            .led, "light", .does("light", "on"), .passes("1s"), .hearsNothing, .says("LED\n"), .passes("1s"),
            .hears("LED:1\r\n")),
        VerbRow(
            .led, "reset", .says("LED:1\n"), .passes("1s"), .hears("LED:1\r\n"), .does("reset"), .says("LED\n"),
            .passes("1s"), .hears("LED:0\r\n")),
        VerbRow(
            .led, "set mute", .does("set", "mute", "on"), .says("LED:1\n"), .passes("1s"), .hearsNothing,
            .says("LED\n"), .passes("1s"), .hears("LED:1\r\n")),
    ]

    private static let ledOnRadio = [
        VerbRow(
            .led, "advance", .does("fault", "delay=2s@always"), .says("\u{1}"), .passes("1s"), .hearsNothing,
            .passes("1s"), .hears("\u{1}")),
        VerbRow(
            .led, "fault", .does("fault", "duplicate@always"), .says("\u{1}"), .passes("1s"),
            .hearsEach(["\u{1}", "\u{1}"])),
        VerbRow(.led, "light", .does("light", "on"), .passes("1s"), .hears("\u{1}")),
        VerbRow(
            .led, "reset", .says("\u{1}"), .passes("1s"), .hears("\u{1}"), .does("reset"), .passes("1s"),
            .hears("\u{0}")),
        VerbRow(
            .led, "set mute", .does("set", "mute", "on"), .says("\u{1}"), .passes("1s"), .hearsNothing,
            .sees("lit", true), .does("set", "mute", "off"), .says("\u{0}"), .passes("1s"), .hears("\u{0}")),
    ]

    static func module(_ carrier: Carrier) -> [VerbRow] { carrier == .terminal ? moduleOnTerminal : moduleOnRadio }

    /// The client is at the module's UART.
    private static let moduleOnTerminal = [
        VerbRow(.module, "advance", .says("AT\r\n"), .hearsNothing, .passes("1s"), .hears("OK\r\n")),
        VerbRow(
            .module, "central", .does("central", "lost"), .does("connect"), .passes("1s"), .hears("OK+CONN\r\n"),
            .does("central", "hello there"), .passes("1s"), .hears("hello there")),
        VerbRow(
            .module, "connect", .does("connect"), .passes("1s"), .hears("OK+CONN\r\n"), .says("to it"), .passes("1s"),
            .sees("central_heard", "to it")),
        VerbRow(
            .module, "disconnect", .does("connect"), .does("disconnect"), .passes("1s"),
            .hears("OK+CONN\r\nOK+LOST\r\n")),
        VerbRow(
            .module, "fault", .does("fault", "duplicate@always"), .says("AT\r\n"), .passes("1s"),
            .hears("OK\r\nOK\r\n")),
        VerbRow(
            .module, "reset", .does("connect"), .passes("1s"), .hears("OK+CONN\r\n"), .does("reset"), .passes("1s"),
            .hears("OK+LOST\r\n"), .sees("connected", false), .says("AT\r\n"), .passes("1s"), .hears("OK\r\n")),
    ]

    /// The client is a central; nobody is at the module's UART.
    private static let moduleOnRadio = [
        VerbRow(.module, "advance", .says("hello"), .passes("1s"), .hearsNothing),
        VerbRow(
            .module, "central", .does("connect"), .does("central", "hello"), .passes("1s"), .hearsNothing,
            .sees("central_heard", "")),
        VerbRow(.module, "connect", .does("connect"), .passes("1s"), .hearsNothing, .sees("connected", true)),
        VerbRow(
            .module, "disconnect", .does("connect"), .does("disconnect"), .passes("1s"), .hearsNothing,
            .sees("connected", true)),
        VerbRow(.module, "fault", .does("fault", "disconnect@command:1"), .says("hello"), .isCutOff),
        VerbRow(.module, "reset", .does("reset"), .isCutOff, .comesBack, .sees("connected", true)),
    ]
}
