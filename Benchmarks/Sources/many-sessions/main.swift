// Many sessions in one program, each with its own port: many-sessions PORT… Each session asks its pump for the status
// every 5 s. Prints the load over two such periods in percent of a core, and the peak memory in MiB.
import DescriptorIO
import Glibc
import LineProtocol
import Transports

let period = Duration.seconds(5)
let rounds = 2

/// Returns the resources that this process has used so far.
func usage() -> rusage {
    var usage = rusage()
    getrusage(0, &usage)
    return usage
}

/// Returns the processor time, in user and kernel mode.
func seconds(_ usage: rusage) -> Double {
    func s(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) * 1e-6 }
    return s(usage.ru_utime) + s(usage.ru_stime)
}

let error: (any Error)? = EventLoop.run { loop in
    do {
        let ports = CommandLine.arguments.dropFirst()
        let clock = EventLoopClock(loop)
        var sessions: [PumpSession] = []
        for port in ports {
            let link = try await LinkSchemes.standard.open(Endpoint(port), on: loop)
            sessions.append(try await PumpSession.begin(over: link, clock: clock))
        }
        let (start, cpu) = (clock.now, seconds(usage()))
        try await withThrowingTaskGroup { group in
            for (index, session) in sessions.enumerated() {
                group.addTask {
                    for round in 0..<rounds {
                        let due = start.advanced(by: period * round + period * index / ports.count)
                        try await clock.sleep(until: due, tolerance: nil)
                        _ = try await session.readStatus()
                    }
                }
            }
            try await group.waitForAll()
        }
        let elapsed = clock.now - start
        print((seconds(usage()) - cpu) / (elapsed / .seconds(1)) * 100, Double(usage().ru_maxrss) / 1024)
        for session in sessions { await session.close() }
        return nil
    } catch { return error }
}
if let error {
    print(error)
    exit(1)
}
