// The throughput of BLE notifications, from the device to a session's messages: notifications ENDPOINT COUNT
//
// The device is fake-bluez's Sprinter. After BURST:COUNT it sends COUNT notifications of 20 bytes, which together form
// status lines of 51 bytes. Prints the notifications per second, from the first message to the last, and the CPU time
// per notification in µs.
import DescriptorIO
import Glibc
import LineProtocol
import Transports

let endpoint = CommandLine.arguments[1]
/// The number of notifications, rounded down to a multiple of 51, so that together they form whole lines.
let count = max(51, (Int(CommandLine.arguments[2]) ?? 51_000) / 51 * 51)

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
        let link = try await LinkSchemes.standard.open(Endpoint(endpoint), on: loop)
        let session = try await PumpSession.begin(over: link, clock: EventLoopClock(loop))
        let events = await session.events()
        try await link.send(Array("BURST:\(count)\n".utf8))
        var rest = count * 20 / 51
        var start: (time: Double, cpu: Double)?
        for await event in events {
            guard case .heard(.status) = event else { continue }
            if start == nil { start = (nowMicroseconds(), cpuMicroseconds()) }
            rest -= 1
            if rest == 0 { break }
        }
        guard rest == 0, let start else { throw Lost(lines: rest) }
        let (time, cpu) = (nowMicroseconds() - start.time, cpuMicroseconds() - start.cpu)
        print(Double(count) / time * 1e6, cpu / Double(count))
        await session.close()
        return nil
    } catch { return error }
}
if let error {
    print(error)
    exit(1)
}

/// The error if the notifications ended early. `lines` is the number of status lines that were not received.
struct Lost: Error { let lines: Int }
