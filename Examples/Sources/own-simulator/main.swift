// A simulated device of your own, as a serial port for other programs: own-simulator LINK
import FirmwareSim

/// A thermometer that answers each line with 21.5, ten milliseconds later.
struct Thermometer: SimulatedDevice {
    private var answers: [Emission] = []

    mutating func receive(_ bytes: [UInt8], at instant: Duration) {
        for byte in bytes where byte == UInt8(ascii: "\n") {
            answers.append(Emission(bytes: Array("21.5\r\n".utf8), time: instant + .milliseconds(10)))
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

let host = DeviceHost(Thermometer(), pace: .realTime(ContinuousClock()))
let server = try await PseudoTerminalServer.open(host, link: CommandLine.arguments.last)
print("serving at", server.path)
try await host.run()
