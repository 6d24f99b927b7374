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

    private func check(_ name: String, _ diagnoses: [Diagnosis]) -> Diagnosis? { diagnoses.first { $0.check == name } }

    @Test func `A program with a lock fails the check, one without is warned of, and neither is to be killed`() {
        let locker = PortHolder(processID: 7, command: "picocom", holdsLock: true)
        let opener = PortHolder(processID: 8, command: "minicom", holdsLock: false)
        let locked = check("holder", diagnoses([locker, opener]))
        #expect(locked?.status == .fail)
        #expect(locked?.finding == "locked by picocom (pid 7), minicom (pid 8)")
        #expect(locked?.remedy == "quit picocom (pid 7), minicom (pid 8)")
        #expect(locked?.exit == .unavailable)
        let open = check("holder", diagnoses([opener]))
        #expect(open?.status == .warn)
        #expect(open?.remedy == "quit minicom (pid 8)")
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
        #expect(found.map(\.remedy) == ["quit minicom (pid 4711)", nil, "rm \(file)"])
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
        #expect(shared.output.contains("→ quit sh (pid \(holder.processID))"))
        #expect(!shared.output.contains("kill"))
        sim.send(signal: SIGTERM)
        _ = try await sim.ending()
    }
}
