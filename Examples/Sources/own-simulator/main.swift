// A custom simulated device, as a serial port for other programs: own-simulator LINK, where LINK is the path for a link
// to its pseudo-terminal.
import FirmwareSim

/// A thermometer that replies to each line with 21.5 after a delay.
struct Thermometer: SimulatedDevice {
    let delay: Duration
    private var answers: [Emission] = []

    init(delay: Duration) { self.delay = delay }

    mutating func receive(_ bytes: [UInt8], at instant: Duration) {
        for byte in bytes where byte == UInt8(ascii: "\n") {
            answers.append(Emission(bytes: Array("21.5\r\n".utf8), time: instant + delay))
        }
    }

    mutating func advance(to instant: Duration) -> [Emission] {
        let count = answers.prefix { $0.time <= instant }.count
        defer { answers.removeFirst(count) }
        return Array(answers[..<count])
    }

    mutating func reset(at instant: Duration) { answers = [] }

    var nextActivity: Duration? { answers.first?.time }
    var isQuiescent: Bool { answers.isEmpty }
}

// The options are data, with which a command line or a web page can offer them to a user and check their values.
let thermometer = Simulator(
    "thermometer",
    options: [SimulatorOption("delay", .time(), default: "10ms", help: "Time until the answer.")]
) { settings in
    Thermometer(delay: settings.time("delay") ?? .zero)
}

let settings = try thermometer.settings(["delay": "20ms"])
try await thermometer.serve(settings, at: .terminal(link: CommandLine.arguments.last)) { event in
    if case .onTerminal(let path) = event { print("serving at", path) }
}
