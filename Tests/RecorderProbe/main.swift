import Glibc
import RecordFormat
import Recorder

// recorder-probe PATH FIRST
//
// Records numbers from FIRST on without end, ten at a time, in the database at PATH. Stores the last of each ten as a
// message too, and marks the previous message as synced. Prints the number of the message when all of this is stored;
// if it could not be stored, "not kept: CODE". Prints "failing CODE" when recording begins to fail.

/// Prints a line without buffering, so that no acknowledged number is lost in a kill. Exits if standard output is
/// closed.
@Sendable func say(_ line: String) {
    var line = line + "\n"
    if line.withUTF8({ write(STDOUT_FILENO, $0.baseAddress, $0.count) }) < 0 { exit(1) }
}

// Writing beyond the file size limit (ulimit -f) then fails with EFBIG, and does not end the program.
signal(SIGXFSZ, SIG_IGN)
let arguments = CommandLine.arguments
let recorder = Recorder(at: arguments[1]) { report in
    if case .failing(let error) = report { say("failing \(error.code.rawValue)") }
}
let session = recorder.beginSession(family: "pump", endpoint: "probe", device: nil)
var number = Int(arguments[2]) ?? 0
var previous: [String] = []
while true {
    for _ in 0..<10 {
        var reading = Reading()
        reading.add("number", number)
        recorder.record(.reading(kind: "count", reading), in: session)
        number += 1
    }
    let last = "\(number - 1)"
    let message = StoredMessage(id: last, category: "Other", received: .now, json: "{\"number\":\(last)}")
    do throws(RecorderError) {
        _ = try await recorder.commit([message], markingSynced: previous)
        previous = [last]
        say(last)
    } catch {
        say("not kept: \(error.code.rawValue)")
    }
}
