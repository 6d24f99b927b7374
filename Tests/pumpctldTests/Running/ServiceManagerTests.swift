import Glibc
import TestSupport
import Testing

@testable import pumpctld

@Suite("Notifications to the service manager")
struct ServiceManagerTests {
    /// A notification socket like systemd's.
    private final class NotifySocket {
        let name: String
        private let descriptor: CInt

        init(_ name: String) throws {
            self.name = name
            descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { path in
                path.copyBytes(from: name.utf8)
                if path[0] == UInt8(ascii: "@") { path[0] = 0 }
            }
            let length = socklen_t(2 + name.utf8.count)
            let result = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
            }
            try #require(result == 0)
        }

        deinit { close(descriptor) }

        /// Returns the next message; nil if there is none.
        func next() -> String? {
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = recv(descriptor, &bytes, bytes.count, 0)
            return count < 0 ? nil : String(decoding: bytes[..<count], as: UTF8.self)
        }
    }

    private static let folder = TemporaryFolder()

    @Test(
        "Notifications go to a socket named by path or abstract name",
        arguments: [folder.path("notify"), "@pumpctld-test-\(getpid())"])
    func notices(name: String) throws {
        let socket = try NotifySocket(name)
        let manager = try #require(ServiceManager { $0 == "NOTIFY_SOCKET" ? name : nil })
        manager.tell(.ready, .status("pump connected"))
        manager.tell(.alive)
        manager.tell(.stopping)
        #expect(socket.next() == "READY=1\nSTATUS=pump connected")
        #expect(socket.next() == "WATCHDOG=1")
        #expect(socket.next() == "STOPPING=1")
        #expect(socket.next() == nil)
        #expect(manager.interval == nil)
    }

    @Test("A line end in a status cannot add a notification")
    func injection() throws {
        let socket = try NotifySocket(Self.folder.path("injection"))
        let manager = try #require(ServiceManager { $0 == "NOTIFY_SOCKET" ? socket.name : nil })
        manager.tell(.status("x\nMAINPID=1"))
        #expect(socket.next() == "STATUS=x\\x0aMAINPID=1")
    }

    @Test("A vanished notification socket is ignored")
    func gone() throws {
        let manager = try #require(ServiceManager { $0 == "NOTIFY_SOCKET" ? "/nowhere/notify" : nil })
        manager.tell(.ready)
    }

    @Test("Without a valid NOTIFY_SOCKET there are no notifications")
    func none() {
        for name in [nil, "", "notify", "vsock:2:1234", "/" + String(repeating: "x", count: 107)] {
            #expect(ServiceManager { $0 == "NOTIFY_SOCKET" ? name : nil } == nil)
        }
    }

    @Test(
        "Life signs are sent at half the watchdog interval",
        arguments: [
            // WATCHDOG_USEC, WATCHDOG_PID, which may name another process, and the time between two life signs: at
            // least a microsecond, and nil for none.
            ("30000000", nil, Duration.seconds(15)), ("30000000", "4711", .seconds(15)), ("30000000", "4712", nil),
            ("0", nil, nil), ("x", nil, nil), (nil, nil, nil), ("1", nil, .microseconds(1)),
        ] as [(String?, String?, Duration?)])
    func watchdog(patience: String?, process: String?, interval: Duration?) throws {
        let variables = ["NOTIFY_SOCKET": "/x", "WATCHDOG_USEC": patience, "WATCHDOG_PID": process]
        let manager = try #require(ServiceManager(process: 4711) { variables[$0] ?? nil })
        #expect(manager.interval == interval)
    }
}
