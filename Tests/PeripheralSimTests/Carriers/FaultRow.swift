import FirmwareSim
import StrictJSON

/// The effect of a fault of the pump on a client over one carrier. Most faults hit the reply to the first command.
struct FaultRow: Sendable, CustomStringConvertible {
    /// The fault as an argument of `--fault`.
    let order: String
    /// The seed, chosen so that the fault is visible.
    var seed: UInt64 = 1
    /// The baud rate of a terminal's client at first.
    var clientRate = 9600
    /// The scene of a device with this fault; empty if the fault is refused.
    var scene: [Beat] = []
    /// The reason for the refusal; nil if the fault is accepted.
    var refusal: String?

    init(_ order: String, seed: UInt64 = 1, clientRate: Int = 9600, _ scene: Beat...) {
        (self.order, self.seed, self.clientRate, self.scene) = (order, seed, clientRate, scene)
    }

    init(_ order: String, isRefused refusal: String) { (self.order, self.refusal) = (order, refusal) }

    /// The fault's name.
    var name: String { String(order.prefix { $0 != "=" && $0 != "@" }) }
    var description: String { order }

    /// The reply to STATUS while the pump is off.
    private static let status = "STATUS:{State:OFF,WaterTemp:12.0C,SkinTemp:34.5C}\r\n"
    /// The reply to OFF.
    private static let off = "OK\r\nPUMP:OFF\r\n"

    static func rows(over carrier: Carrier) -> [FaultRow] { carrier == .terminal ? onTerminal : onRadio }

    /// A pump on a line of 9600 baud. If the client sends a command at the start, the reply begins after 110 ms.
    private static let onTerminal = [
        FaultRow(
            "baud", clientRate: 4800,
            // The pump's MANUAL:ON, garbled because the client has half its rate.
            .does("press"), .passes("500ms"), .hearsBytes([253, 252, 253, 255, 252, 253, 250, 253, 253, 249, 248]),
            .says("OFF\n"), .passes("500ms"), .hearsNothing, .sees("state", "on"), .leaves, .comesBack,
            // Ends the line that the garbage has begun.
            .says("\n"), .passes("500ms"), .hears("ERROR:UNKNOWN_COMMAND\r\n")),
        FaultRow(
            "corrupt@command:1", .says("STATUS\n"), .passes("1s"),
            .hears("STATUS:{STate:OFF,WaterTemp:12.0C,SkinTemp:34.5C}\r\n")),
        FaultRow(
            "delay=500ms@command:1", .says("STATUS\n"), .passes("600ms"), .hearsNothing, .passes("100ms"),
            .hears(status)),
        FaultRow("disconnect", isRefused: "the fault disconnect needs BLE: a line has no packets"),
        FaultRow(
            "drain=50ms@command:1", .says("OFF\n"), .passes("120ms"), .hears("O"), .passes("50ms"), .hears("K"),
            .passes("50ms"), .hears("\r"), .passes("50ms"), .hears("\nPUMP:OFF\r\n")),
        // During 200 ms only 100 ms pass on the board's clock.
        FaultRow("drift=50%", .says("STATUS\n"), .passes("200ms"), .hearsNothing, .passes("200ms"), .hears(status)),
        FaultRow(
            "drop@command:1", .says("STATUS\n"), .passes("1s"),
            .hears("STATUS:{Sate:OFF,WaterTemp:12.0C,SkinTemp:34.5C}\r\n")),
        FaultRow("duplicate@command:1", .says("STATUS\n"), .passes("1s"), .hears(status + status)),
        FaultRow("early", isRefused: "the fault early needs BLE: a line has no packets"),
        FaultRow(
            "join=500ms@always", .says("OFF\n"), .passes("600ms"), .hearsNothing, .passes("12ms"), .hears(off)),
        FaultRow("lost", isRefused: "the fault lost needs BLE: a line has no packets"),
        FaultRow(
            "noise", seed: 3, .passes("1ms"), .hearsBytes([3, 166, 143, 32, 249, 47, 218]), .does("reset"),
            .passes("3s"),
            .hearsBytes([13, 174, 154, 203, 39])),
        FaultRow("overrun@command:1", seed: 7, .says("STATUS\n"), .passes("1s"), .hears("ERROR:UNKNOWN_COMMAND\r\n")),
        FaultRow(
            "reset@command:2", .says("ON\n"), .passes("1s"), .hears("OK\r\nPUMP:ON\r\n"),
            .says("STATUS\n"), .passes("1s"), .hears("STATUS:{State:ON,Speed"),
            // The bootloader runs after the reset, and swallows this command.
            .says("STATUS\n"), .passes("3s"), .hearsNothing, .says("STATUS\n"), .passes("1s"), .hears(status)),
        FaultRow(
            "silence=10s@command:1", .says("STATUS\n"), .passes("1s"), .hears("STATUS:{S"),
            .says("ON\n"), .passes("8s"), .hearsNothing, .passes("2s"),
            .says("STATUS\n"), .passes("1s"), .hears(status)),
        FaultRow(
            "split=300ms@command:1", .says("STATUS\n"), .passes("200ms"), .hears("STATUS:{S"), .passes("300ms"),
            .hears("tate:OFF,WaterTemp:12.0C,SkinTemp:34.5C}\r\n")),
        stuck,
        FaultRow(
            "supervision", isRefused: "the fault supervision needs BLE: a line has no packets"),
        twice,
        FaultRow(
            "unplug=2s@command:1", .says("STATUS\n"), .passes("1s"), .isCutOff, .passes("2s"), .comesBack,
            .says("STATUS\n"), .passes("1s"), .hears(status)),
    ]

    /// A pump behind an HM-10, which notifies the reply to OFF in one packet, and the reply to STATUS in three.
    private static let onRadio = [
        FaultRow("baud", isRefused: "the fault baud needs a line: BLE has no cable, and checks its packets"),
        FaultRow("corrupt@command:1", seed: 6, .says("OFF\n"), .passes("1s"), .hears("OK\r\nPUMP:OFB\r\n")),
        FaultRow(
            "delay=500ms@command:1", .says("OFF\n"), .passes("600ms"), .hearsNothing, .passes("100ms"), .hears(off)),
        FaultRow(
            "disconnect@command:1", seed: 3, .says("ON\n"), .isCutOff, .comesBack, .sees("state", "off"),
            // With this seed, the pump has received "ON" of the write during which the link dropped.
            .says("\n"), .passes("1s"), .hears("OK\r\nPUMP:ON\r\n")),
        FaultRow(
            "drain=300ms@always", .says("STATUS\n"), .passes("300ms"), .hears("STATUS:{State:OFF,Wa"),
            .passes("300ms"), .hears("terTemp:12.0C,SkinTe"), .passes("300ms"), .hears("mp:34.5C}\r\n")),
        FaultRow("drift=50%", .says("OFF\n"), .passes("200ms"), .hearsNothing, .passes("200ms"), .hears(off)),
        FaultRow("drop@command:1", seed: 7, .says("OFF\n"), .passes("1s"), .hears("OK\nPUMP:OFF\r\n")),
        FaultRow("duplicate@command:1", .says("OFF\n"), .passes("1s"), .hearsEach([off, off])),
        FaultRow(
            "early", .says("OFF\n"), .passes("1s"), .hears(off), .leaves, .comesBack, .hearsUnsaid(off)),
        FaultRow(
            "join=500ms@always", .says("STATUS\n"), .passes("600ms"), .hearsNothing, .passes("100ms"),
            .hearsEach(["STATUS:{State:OFF,Wa", "terTemp:12.0C,SkinTe", "mp:34.5C}\r\n"])),
        FaultRow("lost@command:1", .says("STATUS\n"), .passes("1s"), .hears("terTemp:12.0C,SkinTemp:34.5C}\r\n")),
        FaultRow(
            "noise", seed: 3, .passes("1ms"), .hearsBytes([3, 166, 143, 32, 249, 47, 218]), .does("reset"),
            .passes("3s"),
            .hearsBytes([13, 174, 154, 203, 39])),
        FaultRow("overrun@command:1", seed: 7, .says("OFF\n"), .passes("1s"), .hears("ERROR:UNKNOWN_COMMAND\r\n")),
        FaultRow(
            "reset@command:2", .says("ON\n"), .passes("1s"), .hears("OK\r\nPUMP:ON\r\n"),
            // The reset cuts the reply off within its first notification, and a part of a notification is never sent.
            .says("STATUS\n"), .passes("1s"), .hearsNothing,
            .says("STATUS\n"), .passes("3s"), .hearsNothing, .says("STATUS\n"), .passes("1s"), .hears(status)),
        FaultRow(
            "silence=10s@command:1", .says("STATUS\n"), .passes("1s"), .hearsNothing,
            .says("ON\n"), .passes("8s"), .hearsNothing, .passes("2s"),
            .says("STATUS\n"), .passes("1s"), .hears(status)),
        FaultRow(
            "split=300ms@command:1", seed: 2, .says("OFF\n"), .passes("200ms"), .hears("OK\r\n"), .passes("300ms"),
            .hears("PUMP:OFF\r\n")),
        stuck,
        FaultRow(
            "supervision=6s@command:1", .says("STATUS\n"), .passes("1s"), .hearsNothing,
            .says("ON\n"), .passes("4s"), .hearsNothing, .passes("2s"), .isCutOff, .comesBack,
            .says("STATUS\n"), .passes("1s"), .hears(status)),
        twice,
        FaultRow("unplug", isRefused: "the fault unplug needs a line: BLE has no cable, and checks its packets"),
    ]

    private static let stuck = FaultRow(
        "stuck@command:1", .says("ON\n"), .passes("1s"), .hears("OK\r\nPUMP:ON\r\n"),
        .says("STATUS\n"), .passes("1s"), .hears("STATUS:{State:ERROR,WaterTemp:12.0C,SkinTemp:34.5C}\r\n"),
        .says("OFF\n"), .passes("1s"), .hears(off), .says("ON\n"), .passes("1s"), .hears("ERROR:PUMP_START_FAILED\r\n"))

    private static let twice = FaultRow("twice@command:1", .says("OFF\n"), .passes("1s"), .hears(off + off))
}
