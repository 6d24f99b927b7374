import FirmwareSim
import Foundation
import Glibc
import SerialPort
import TestSupport
import Testing

@Suite("Watches of pseudo-terminals", .timeLimit(.minutes(5)))
struct OpeningWatchTests {
    private let folder = TemporaryFolder()

    @Test("Many pumps share one inotify instance, which ends with the last of them")
    func oneInstance() async throws {
        let made = Watched(0)
        let watch = OpeningWatch {
            made.update { $0 += 1 }
            return inotify_init1(CInt(IN_NONBLOCK | IN_CLOEXEC))
        }
        for round in 1...2 {
            var servers: [PseudoTerminalServer<PumpFirmware>] = []
            for _ in 0..<20 { servers.append(try await PseudoTerminalServer.open(pumpHost(), watch: watch)) }
            #expect(made.state == round)
            // The reply shows that the server was notified of its own client.
            for server in servers {
                let reply = printed("OK", "PUMP:OFF")
                do {
                    let client = try HostClient(terminal: server.path)
                    try client.say("OFF\n")
                    #expect(try await client.hear(until: reply) == reply)
                }
                await server.close()
            }
        }
    }

    @Test("Many pumps use the inotify instance of their process")
    func sharedInstance() async throws {
        func count() throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count {
                Self.target(CInt($0) ?? -1) == "anon_inode:inotify"
            }
        }
        let before = try count()
        var servers: [PseudoTerminalServer<PumpFirmware>] = []
        for _ in 0..<60 { servers.append(try await PseudoTerminalServer.open(pumpHost())) }
        // Other tests in this process open instances at the same time, but far fewer than there are pumps here.
        #expect(try count() < before + 30)
        for server in servers { await server.close() }
    }

    @Test("Without an inotify instance a pump is not offered", arguments: [EMFILE, ENOMEM])
    func noInstance(error: CInt) async throws {
        let watch = OpeningWatch {
            errno = error
            return -1
        }
        let path = folder.path("pump")
        let failure = await #expect(throws: SerialError.self) {
            try await PseudoTerminalServer.open(pumpHost(), link: path, watch: watch)
        }
        #expect(failure?.code == .system)
        #expect(failure?.errno == error)
        #expect(failure?.hint?.contains("fs.inotify.max_user_instances") == true)
        var status = stat()
        #expect(lstat(path, &status) != 0, "nothing is left behind")
    }

    @Test("After a failed watch the next terminal works")
    func failedWatch() async throws {
        let made = Watched(0)
        let watch = OpeningWatch {
            // The first instance accepts no watches.
            made.update { count -> Int in
                count += 1
                return count
            } == 1
                ? open("/dev/null", O_RDONLY | O_CLOEXEC) : inotify_init1(CInt(IN_NONBLOCK | IN_CLOEXEC))
        }
        await #expect(throws: SerialError.self) { try await PseudoTerminalServer.open(pumpHost(), watch: watch) }
        let server = try await PseudoTerminalServer.open(pumpHost(), watch: watch)
        let client = try HostClient(terminal: server.path)
        try client.say("OFF\n")
        let reply = printed("OK", "PUMP:OFF")
        #expect(try await client.hear(until: reply) == reply)
        await server.close()
    }

    private static func target(_ descriptor: CInt) -> String? {
        try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
    }
}
