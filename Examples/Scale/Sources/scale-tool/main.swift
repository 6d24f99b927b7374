// Works with a scale: scale-tool weigh | tare | console | monitor ENDPOINT
//
// If the environment variable SCALE_RECORDER has the path of the program pumpctl-record, `monitor` also records.
import DeviceKit
import Glibc
import LineProtocol
import Scale
import Transports

/// Prints a line without buffering.
func announce(_ text: String) {
    let line = Array("\(text)\n".utf8)
    _ = write(STDOUT_FILENO, line, line.count)
}

guard CommandLine.arguments.count == 3 else {
    print("usage: scale-tool weigh | tare | console | monitor ENDPOINT")
    exit(EX_USAGE)
}
do {
    let endpoint = try Endpoint(CommandLine.arguments[2]).adapted(to: .scale)
    let link = try await LinkSchemes.scale.open(endpoint)
    let reconnector = Reconnector(endpoint, link, open: { try await LinkSchemes.scale.open($0) })
    switch CommandLine.arguments[1] {
    case "weigh":
        let scale = try await ScaleSession.begin(over: link, clock: ContinuousClock())
        print(try await scale.weigh(), "g")
        await scale.close()
    case "tare":
        let scale = try await ScaleSession.begin(over: link, clock: ContinuousClock())
        try await scale.tare()
        print("tared")
        await scale.close()
    case "console":
        let console = LineConsole(with: .scale, reconnector) { happening in
            if case .heard(let line) = happening { announce(line.text) }
        }
        Task.detached {
            while let line = readLine() { console.enter(Array(line.utf8)) }
            console.end()
        }
        _ = try await console.run(over: link)
    case "monitor":
        var recording: Recording?
        if let path = getenv("SCALE_RECORDER") {
            let recorder = CompanionProgram(path: String(cString: path))
            recording = try Recording(of: Family.scale.name, by: recorder) { print("record:", $0) }
            await recording?.listen()
            recording?.beginSession(at: endpoint)
        }
        // The end of standard input ends the monitor.
        let monitor = try await DeviceMonitor<ScaleFamily>(
            over: link, reconnector, interval: .milliseconds(500))
        Task.detached {
            while readLine() != nil {}
            await monitor.close()
        }
        do {
            for try await update in monitor {
                guard let update = FamilyUpdate(update) else { continue }
                announce(([update.name] + update.phrases).joined(separator: ", "))
                recording?.record(update, of: endpoint)
            }
        } catch is CancellationError {}
        await recording?.end("done")
    default:
        print("unknown command '\(CommandLine.arguments[1])'; use: weigh, tare, console, monitor")
        exit(EX_USAGE)
    }
} catch let error as LinkError {
    print(error, error.hint ?? "")
    exit(1)
} catch let error as SessionError {
    print(error)
    exit(1)
}
