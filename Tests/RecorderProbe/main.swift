import Glibc
import RecordFormat
import Recorder

// Records without end, and prints the number of the last reading of each batch that is acknowledged:
// recorder-probe PATH FIRST

/// Says it at once: what is said before a kill has been said. Ends where nobody listens.
@Sendable func say(_ line: String) {
    var line = line + "\n"
    if line.withUTF8({ write(STDOUT_FILENO, $0.baseAddress, $0.count) }) < 0 { exit(1) }
}

signal(SIGXFSZ, SIG_IGN)
let arguments = CommandLine.arguments
let recorder = Recorder(at: arguments[1]) { report in
    if case .failing(let error) = report { say("failing \(error.code.rawValue)") }
}
let session = recorder.beginSession(family: "pump", endpoint: "probe", device: nil)
var number = Int(arguments[2]) ?? 0
while true {
    for _ in 0..<10 {
        var reading = Reading()
        reading.add("number", number)
        recorder.record(.reading(kind: "count", reading), in: session)
        number += 1
    }
    do throws(RecorderError) {
        try await recorder.flush()
        say("\(number - 1)")
    } catch {
        say("not kept: \(error.code.rawValue)")
    }
}
