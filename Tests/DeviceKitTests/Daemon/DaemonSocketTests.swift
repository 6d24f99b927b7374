import Glibc
import LineProtocol
import TestSupport
import Testing

@testable import DeviceKit

@Suite("Daemon sockets without permission") struct DaemonSocketTests {
    private let folder = TemporaryFolder()
    private static let busy = LinkError(
        .busy, name: "/dev/ttyUSB0", activity: "open", hint: "end it first",
        holder: LinkHolder(processID: 7, command: "pumpctld"), deviceID: "tty-188-0")

    // Only root can give the files other owners.
    @Test(.enabled(if: geteuid() == 0)) func `The permission hint names the group or user that has access`() {
        let socket = DaemonSocket(path: folder.write("", to: "socket"))
        chmod(socket.path, 0o660)
        #expect(socket.permissionHint.hasPrefix("use pumpctld as root"))
        // Group 5 is tty, and user 65534 is nobody.
        #expect(chown(socket.path, 0, 5) == 0)
        #expect(socket.permissionHint.hasSuffix("sudo usermod -aG tty $USER"))
        // The socket is open to its owner only, so joining the group would not help.
        #expect(chmod(socket.path, 0o600) == 0 && chown(socket.path, 65534, 5) == 0)
        #expect(socket.permissionHint.hasPrefix("use pumpctld as nobody"))
        // The socket can't be seen, because its folder excludes other users.
        #expect(chown(folder.path, 0, 5) == 0 && chmod(folder.path, 0o750) == 0)
        #expect(DaemonSocket(path: folder.path("none")).permissionHint.hasSuffix("sudo usermod -aG tty $USER"))
    }

    @Test func `If the daemon has the device, the hint is to get permission, not to end it`() {
        let socket = DaemonSocket(path: folder.write("", to: "socket"))
        let denied = DaemonError(.notPermitted, at: socket)
        let error = Self.busy.asking(denied)
        #expect(error.code == .busy)
        #expect("\(error)" == "/dev/ttyUSB0: busy: open in pumpctld (pid 7)")
        #expect(error.hint == socket.permissionHint)
        var other = Self.busy
        other.holder = LinkHolder(processID: 7, command: "minicom")
        #expect(other.asking(denied) == other)
        #expect(other.asking(DaemonError(.notRunning)) == other)
    }

    @Test func `If pumpctld has the device but can't be asked, the hint names its socket or a restart`() {
        let elsewhere = Self.busy.asking(DaemonError(.notRunning))
        #expect(elsewhere.code == .busy)
        #expect(elsewhere.hint?.contains("PUMPCTLD_SOCKET=PATH") == true)
        #expect(Self.busy.asking(DaemonError(.noAnswer)).hint?.contains("does not answer, restart it") == true)
    }
}
