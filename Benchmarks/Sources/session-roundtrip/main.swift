// The time of a command's round trip through a Session, with the device in another process: session-roundtrip ENDPOINT
// COUNT prints the median and the CPU time of a round trip, both in µs.
import DescriptorIO
import Glibc
import LineProtocol
import SerialPort
import Transports

let path = CommandLine.arguments[1]
let count = Int(CommandLine.arguments[2]) ?? 1000

func nowMicroseconds() -> Double {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return Double(now.tv_sec) * 1e6 + Double(now.tv_nsec) * 1e-3
}

func cpuMicroseconds() -> Double {
    var usage = rusage()
    getrusage(0, &usage)
    func us(_ t: timeval) -> Double { Double(t.tv_sec) * 1e6 + Double(t.tv_usec) }
    return us(usage.ru_utime) + us(usage.ru_stime)
}

let error: (any Error)? = EventLoop.run { loop in
    do {
        let link = try await LinkSchemes.standard.open(Endpoint(path), on: loop)
        let session = try await PumpSession.begin(over: link, clock: EventLoopClock(loop))
        var times: [Double] = []
        times.reserveCapacity(count)
        let cpu = cpuMicroseconds()
        for _ in 0..<count {
            let start = nowMicroseconds()
            _ = try await session.readStatus()
            times.append(nowMicroseconds() - start)
        }
        let used = cpuMicroseconds() - cpu
        times.sort()
        print(times[count / 2], used / Double(count))
        await session.close()
        return nil
    } catch { return error }
}
if let error {
    print(error)
    exit(1)
}
