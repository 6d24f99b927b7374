import Glibc
import LineProtocol
import TestSupport
import Testing

@testable import DeviceKit

@Suite("What a daemon says") struct DaemonResponseTests {
    private func read(_ json: String) -> DaemonResponse? { DaemonResponse(Array(json.utf8)) }

    @Test func `Its members are read by what is there, and the rest is ignored`() throws {
        let response = try #require(
            read(#"{"id":1,"ok":true,"device":"p\u0075mp","more":[1,{"id":2}],"error":{"code":"x"}}"#))
        #expect(response.id == 1)
        #expect(response.flag("ok"))
        #expect(response.text("device") == "pump")
        #expect(response.text("id") == nil)
        #expect(response.text("family") == nil)
        #expect(response.member("error")?.text("code") == "x")
        #expect(response.member("device") == nil)
    }

    @Test func `An event has no number, and what is no object is nothing`() {
        #expect(read(#"{"event":"hello"}"#)?.id == nil)
        #expect(read("STATUS:{State:OFF}") == nil)
        #expect(read("") == nil)
    }

    @Test func `The objects of an array are read, whatever is in their texts`() throws {
        let list = #"[{"name":"a } ] \" b","x":{"y":[{}]}}, {"name":"c"}, 7, null]"#
        let response = try #require(read(#"{"devices":\#(list),"none":[],"one":{"name":"d"}}"#))
        #expect(response.members("devices").map { $0.text("name") } == ["a } ] \" b", "c"])
        #expect(response.members("none").isEmpty)
        #expect(response.members("one").isEmpty)
        #expect(response.members("nothing").isEmpty)
    }
}

@Suite("A daemon's socket that one may not use") struct DaemonSocketTests {
    private let folder = TemporaryFolder()
    private static let busy = LinkError(
        .busy, name: "/dev/ttyUSB0", activity: "open", hint: "end it first",
        holder: LinkHolder(processID: 7, command: "pumpctld"), deviceID: "tty-188-0")

    @Test(.enabled(if: geteuid() == 0)) func `The group that may is named`() {
        let socket = DaemonSocket(path: folder.write("", to: "socket"))
        chmod(socket.path, 0o660)
        #expect(socket.permissionHint.hasPrefix("use it as root"))
        #expect(chown(socket.path, 0, 5) == 0)
        #expect(socket.permissionHint.hasSuffix("sudo usermod -aG tty $USER"))
        // Another user's daemon: joining the group would not help.
        #expect(chmod(socket.path, 0o600) == 0 && chown(socket.path, 65534, 5) == 0)
        #expect(socket.permissionHint.hasPrefix("use it as nobody"))
        // The folder's permissions may already exclude other users.
        #expect(chown(folder.path, 0, 5) == 0 && chmod(folder.path, 0o750) == 0)
        #expect(DaemonSocket(path: folder.path("none")).permissionHint.hasSuffix("sudo usermod -aG tty $USER"))
    }

    @Test func `Where the daemon has the device, what is to be done is said in place of ending it`() {
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

    @Test func `A daemon whose socket is elsewhere, or that does not answer, is not to be killed`() {
        let elsewhere = Self.busy.asking(DaemonError(.notRunning))
        #expect(elsewhere.code == .busy)
        #expect(elsewhere.hint?.contains("PUMPCTLD_SOCKET=PATH") == true)
        #expect(Self.busy.asking(DaemonError(.noAnswer)).hint?.contains("restart pumpctld") == true)
    }
}
