import DeviceTestKit
import Glibc
import LineProtocol
import SerialPort
import Testing
import Transports

/// Each test runs in its own process, in which nothing else opens descriptors or starts threads.
@Suite("Links opened and closed repeatedly", .serialized, .timeLimit(.minutes(20)))
struct LinkLeakTests {
    @Test("Opening and closing links leaks no descriptor and no thread", arguments: Carrier.allCases)
    func opensAndCloses(carrier: Carrier) async throws {
        await #expect(processExitsWith: .success) { [carrier] in
            let rig = try await carrier.rig()
            defer { rig.end() }
            func open(_ times: Int) async throws {
                for number in 0..<times {
                    let (link, far) = try await rig.open()
                    // Every second link is used for sending and reading.
                    if number % 2 == 0 {
                        try await link.send("!")
                        #expect(try await link.receiveAvailable() == [])
                    }
                    // The far end of every third link closes first.
                    if number % 3 == 0 {
                        far.vanish()
                        #expect(await code { () throws(LinkError) in try await link.receive() } == .disconnected)
                    }
                    await link.close()
                    far.vanish()
                }
            }
            // The first openings also create what the process keeps.
            try await open(min(200, carrier.openings / 10))
            let descriptors = entries(of: "/proc/self/fd")
            let threads = entries(of: "/proc/self/task")
            try await open(carrier.openings)
            // The runtime opens a few descriptors on first use.
            #expect(entries(of: "/proc/self/fd") <= descriptors + 4)
            // Swift's own pool may still grow to one thread per core.
            #expect(entries(of: "/proc/self/task") <= threads + CInt(sysconf(CInt(_SC_NPROCESSORS_ONLN))))
        }
    }
}

private func entries(of folder: String) -> CInt {
    guard let stream = opendir(folder) else { return -1 }
    defer { closedir(stream) }
    var count: CInt = 0
    while readdir(stream) != nil { count += 1 }
    return count
}
