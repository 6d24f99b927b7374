import DeviceKit
import LineProtocol
import Testing
import Transports

@testable import Diagnosis

@Suite struct SharedDeviceCheckupTests {
    private static let pump = DaemonDevice(name: "pump", family: "pump", endpoint: "/dev/ttyUSB0", isUp: true)

    private func finding(_ daemons: Daemons, of name: String = "pump") -> Finding? {
        SharedDeviceCheckup(name: name, daemons: daemons).findings.first
    }

    @Test func `A device of the daemon is reported with its endpoint`() {
        let daemons = Daemons(devices: [Self.pump])
        #expect(
            finding(daemons)
                == .good(.daemon, of: "shared:pump", "pumpctld has a device of the family pump at /dev/ttyUSB0"))
        #expect(SharedDeviceCheckup(name: "pump", daemons: daemons).place?.address == "/dev/ttyUSB0")
    }

    @Test func `An absent device and an unknown name fail the check`() {
        var away = Self.pump
        away.isUp = false
        #expect(finding(Daemons(devices: [away]))?.obstacle == .notFound)
        let unknown = finding(Daemons(devices: [Self.pump]), of: "led")
        #expect(unknown?.obstacle == .notFound)
        #expect(unknown?.remedy == "name one that it has: shared:pump")
    }

    @Test func `A daemon of another version is a warning, and its restart is not a command to offer`() {
        var daemons = Daemons()
        daemons.programVersions = ["0.2.0", "0.1.0"]
        let remedy: Remedy = "restart it when no pump runs: sudo systemctl restart pumpctld"
        #expect(
            daemons.versionFindings(ownVersion: "0.2.0")
                == [.warning(.daemon, "pumpctld is of version 0.1.0, pumpctl of 0.2.0", remedy)])
    }

    @Test func `If a group may use the daemon, the remedy has the command to join it`() {
        let remedy = finding(Daemons(permissionHint: "join the group", joinableGroup: "pumps"))?.remedy
        #expect(remedy == .command(.joining("pumps"), sentence: "join the group"))
    }

    @Test func `A missing daemon and a missing permission are different obstacles`() {
        #expect(finding(Daemons())?.obstacle == .unavailable)
        let forbidden = finding(Daemons(permissionHint: "join the group"))
        #expect(forbidden?.obstacle == .notPermitted)
        #expect(forbidden?.remedy == "join the group")
    }
}
