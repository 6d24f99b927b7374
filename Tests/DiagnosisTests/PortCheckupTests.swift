import DescriptorIO
import DeviceKit
import LineProtocol
import SerialPort
import Testing
import Transports

@testable import Diagnosis

@Suite struct PortCheckupTests {
    /// A terminal device that every computer with Linux has.
    private static let path = "/dev/ptmx"

    /// The findings on a port with these holders and lock files. Process 9 is another run of this program.
    private func findings(
        _ holders: [PortHolder] = [], _ files: [LockFile] = [], unseen: Int = 0, daemons: Daemons = Daemons()
    ) -> [Finding] {
        PortCheckup(
            port: SerialPortInfo(path: Self.path), use: PortUse(path: Self.path, holders: holders, lockFiles: files),
            processes: (seen: 12, unseen: unseen), baudRate: nil, programs: [],
            daemons: daemons
        ) {
            HoldingProcess.endingHint($0) { $0 == 9 ? .sameProgram : .other }
        }.findings
    }

    @Test(arguments: ["/dev/null", "/etc/passwd"])
    func `A file that is not a serial port is reported without a hint to end its users`(path: String) {
        let minicom = PortHolder(processID: 8, command: "minicom", holdsLock: false)
        let found = PortCheckup(
            port: SerialPortInfo(path: path), use: PortUse(path: path, holders: [minicom], lockFiles: []),
            processes: (seen: 12, unseen: 0), baudRate: nil, programs: []
        ).findings
        #expect(found.map(\.status) == [.bad])
        #expect(found.first?.fact.description == "not a serial port")
    }

    @Test func `ModemManager is a warning only if it runs and no rule excludes the USB port`() {
        func found(isKept: Bool, programs: Set<String>, isUSB: Bool = true) -> Finding? {
            var port = SerialPortInfo(path: Self.path)
            if isUSB {
                port.usb = SerialPortInfo.USB(USBIdentifier(vendor: 0x1A86, product: 0x7523), physicalPath: "1-2")
            }
            port.isKeptFromModemManager = isKept
            let checkup = PortCheckup(
                port: port, use: PortUse(path: Self.path, holders: [], lockFiles: []),
                processes: (seen: 12, unseen: 0), baudRate: nil, programs: programs)
            return check(.modemManager, checkup.findings)
        }
        let warning = found(isKept: false, programs: ["ModemManager", "sh"])
        #expect(warning?.status == .warning)
        #expect(warning?.fact.description.hasPrefix("ModemManager sends AT commands to the device") == true)
        let kept = found(isKept: true, programs: ["ModemManager", "sh"])
        #expect(kept == .good(.modemManager, of: Self.path, "a udev rule keeps ModemManager off"))
        #expect(found(isKept: false, programs: ["sh"]) == nil)
        #expect(found(isKept: false, programs: ["ModemManager"], isUSB: false) == nil)
    }

    private func check(_ check: Check, _ findings: [Finding]) -> Finding? { findings.first { $0.check == check } }

    @Test func `A lock holder fails the check, an opener is a warning, and a pumpctl gets no kill hint`() {
        let locker = PortHolder(processID: 7, command: "picocom", holdsLock: true)
        let opener = PortHolder(processID: 8, command: "minicom", holdsLock: false)
        let locked = check(.holder, findings([locker, opener]))
        #expect(locked?.status == .bad)
        #expect(locked?.fact == "locked by picocom (pid 7), minicom (pid 8)")
        #expect(locked?.remedy == "end them first: kill 7 8")
        #expect(locked?.obstacle == .busy)
        let open = check(.holder, findings([opener]))
        #expect(open?.status == .warning)
        #expect(open?.remedy == "end it first: kill 8")
        let run = PortHolder(processID: 9, command: "pumpctl", holdsLock: true)
        #expect(
            check(.holder, findings([run]))?.remedy
                == "wait until that program ends, or end it where it was started")
    }

    @Test func `A port shared by the daemon is fine and reported with its shared name`() {
        let daemon = PortHolder(processID: 7, command: "pumpctld", holdsLock: true)
        let device = DaemonDevice(
            name: "pump", family: "pump", endpoint: "/dev/ttyUSB0", isUp: true,
            deviceID: DeviceID.serialPort(at: Self.path))
        let found = check(.holder, findings([daemon], daemons: Daemons(devices: [device])))
        #expect(found?.status == .good)
        #expect(found?.fact == "open in pumpctld, which shares it as pump")
        #expect(found?.remedy == .nameShared(endpoint: "shared:pump"))
        var other = device
        other.deviceID = "tty-188-97"
        let foreign = check(.holder, findings([daemon], daemons: Daemons(devices: [other])))
        #expect(foreign?.remedy?.description.contains("PUMPCTLD_SOCKET") == true)
    }

    @Test func `Without permission for the daemon, the remedy is to get it, not to kill the daemon`() {
        let daemon = PortHolder(processID: 7, command: "pumpctld", holdsLock: true)
        let minicom = PortHolder(processID: 8, command: "minicom", holdsLock: true)
        let daemons = Daemons(permissionHint: "join the group")
        let found = check(.holder, findings([daemon], daemons: daemons))
        #expect(found?.status == .bad)
        #expect(found?.obstacle == .busy)
        #expect(found?.remedy == "join the group")
        #expect(check(.holder, findings([minicom], daemons: daemons))?.remedy == "end it first: kill 8")
    }

    @Test func `If no holder is found, the number of inspected processes is reported`() {
        #expect(
            check(.holder, findings())
                == .good(
                    .holder, of: Self.path, "none of the 12 visible processes has the port open"))
        let hidden = check(.holder, findings(unseen: 34))
        #expect(hidden?.status == .unknown)
        #expect(
            hidden?.fact.description.contains("34 of other users are not visible: use 'sudo fuser -v /dev/ptmx'")
                == true)
    }

    @Test func `Lock files of running, ended and unknown programs are reported`() {
        let file = "/run/lock/LCK..ptmx"
        let found = findings(
            [],
            [
                LockFile(path: file, processID: 4711, command: "minicom"),
                LockFile(path: file, processID: 4712, command: nil),
                LockFile(path: file, processID: nil, command: nil),
            ]
        ).filter { $0.check == .lockFile }
        #expect(found.map(\.status) == [.warning, .good, .warning])
        #expect(found.map(\.remedy) == ["end it first: kill 4711", nil, "rm \(file)"] as [Remedy?])
        #expect(found[0].fact == "minicom (pid 4711) has a lock file for the port: \(file)")
        #expect(found[1].fact.description.contains("stale"))
    }
}
