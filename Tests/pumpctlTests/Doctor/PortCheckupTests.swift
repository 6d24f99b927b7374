import Glibc
import SerialPort
import TestSupport
import Testing

@testable import pumpctl

@Suite struct PortCheckupTests {
    private static let path = "/dev/null"

    private func diagnoses(
        _ holders: [PortHolder] = [], _ files: [LockFile] = [], unseen: Int = 0
    ) -> [Diagnosis] {
        PortCheckup(
            port: SerialPortInfo(path: Self.path), use: PortUse(path: Self.path, holders: holders, lockFiles: files),
            processes: (seen: 12, unseen: unseen), baudRate: nil, programs: []
        ).diagnoses
    }

    @Test func `ModemManager is warned of where it runs and no rule keeps it off, and there alone`() {
        func found(isKept: Bool, programs: Set<String>, isUSB: Bool = true) -> Diagnosis? {
            var port = SerialPortInfo(path: Self.path)
            if isUSB {
                port.usb = SerialPortInfo.USB(USBIdentifier(vendor: 0x1A86, product: 0x7523), physicalPath: "1-2")
            }
            port.isKeptFromModemManager = isKept
            let checkup = PortCheckup(
                port: port, use: PortUse(path: Self.path, holders: [], lockFiles: []),
                processes: (seen: 12, unseen: 0), baudRate: nil, programs: programs)
            return check("modem_manager", checkup.diagnoses)
        }
        let warning = found(isKept: false, programs: ["ModemManager", "sh"])
        #expect(warning?.status == .warn)
        #expect(warning?.finding.hasPrefix("ModemManager sends AT commands to it") == true)
        #expect(warning?.remedy?.contains("70-pumpctl-ports.rules") == true)
        let kept = found(isKept: true, programs: ["ModemManager", "sh"])
        #expect(kept == .ok("modem_manager", port: Self.path, "a rule keeps ModemManager off"))
        #expect(found(isKept: false, programs: ["sh"]) == nil)
        #expect(found(isKept: false, programs: ["ModemManager"], isUSB: false) == nil)
    }

    private func check(_ name: String, _ diagnoses: [Diagnosis]) -> Diagnosis? { diagnoses.first { $0.check == name } }

    @Test func `A program with a lock fails the check, one without is warned of, and neither is to be killed`() {
        let locker = PortHolder(processID: 7, command: "picocom", holdsLock: true)
        let opener = PortHolder(processID: 8, command: "minicom", holdsLock: false)
        let locked = check("holder", diagnoses([locker, opener]))
        #expect(locked?.status == .fail)
        #expect(locked?.finding == "locked by picocom (pid 7), minicom (pid 8)")
        #expect(locked?.remedy == "end it: kill 7 8")
        #expect(locked?.exit == .unavailable)
        let open = check("holder", diagnoses([opener]))
        #expect(open?.status == .warn)
        #expect(open?.remedy == "end it: kill 8")
    }

    @Test func `Where nobody was found, it says among which processes`() {
        #expect(
            check("holder", diagnoses())
                == .ok(
                    "holder", port: Self.path, "none of the 12 processes that could be looked at has it open"))
        let hidden = check("holder", diagnoses(unseen: 34))
        #expect(hidden?.status == .ok)
        #expect(hidden?.finding.contains("34 of other users could not: 'sudo fuser -v /dev/null' sees them") == true)
    }

    @Test func `Lock files are shown: of a program that runs, of one that is gone, and of none`() {
        let file = "/run/lock/LCK..null"
        let found = diagnoses(
            [],
            [
                LockFile(path: file, processID: 4711, command: "minicom"),
                LockFile(path: file, processID: 4712, command: nil),
                LockFile(path: file, processID: nil, command: nil),
            ]
        ).filter { $0.check == "lock_file" }
        #expect(found.map(\.status) == [.warn, .ok, .warn])
        #expect(found.map(\.remedy) == ["end it: kill 4711", nil, "rm \(file)"])
        #expect(found[0].finding == "minicom (pid 4711) has a lock file for it: \(file)")
        #expect(found[1].finding.contains("stale"))
    }

    @Test func `doctor takes a simulator for the device, and a program that has the port open for a user`() async throws
    {
        let folder = TemporaryFolder()
        let path = folder.path("pump")
        let sim = try await Pumpctl.start(["sim", "pump", "--link", path])
        _ = try await sim.output.line()
        let alone = try await Pumpctl.run("doctor", path)
        #expect(alone.output.contains("processes that could be looked at has it open"), "\(alone)")
        #expect(!alone.output.contains("\(sim.processID)"))
        let holder = try await ChildProcess(["sh", "-c", "exec 3<>'\(path)'; echo ready; read x"])
        #expect(try await holder.output.line() == "ready")
        let shared = try await Pumpctl.run("doctor", path)
        #expect(shared.output.contains("open in sh (pid \(holder.processID))"), "\(shared)")
        #expect(shared.output.contains("→ end it: kill \(holder.processID)"))
        #expect(!shared.output.contains("\(sim.processID)"))
        sim.send(signal: SIGTERM)
        _ = try await sim.ending()
    }
}
