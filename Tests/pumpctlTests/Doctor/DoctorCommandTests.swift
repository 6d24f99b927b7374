import BlueZ
import Diagnosis
import Glibc
import TestSupport
import Testing

@testable import pumpctl

@Suite("pumpctl doctor") struct DoctorCommandTests {
    @Test func `doctor ignores the simulator behind a port, and reports other programs that have it open`() async throws
    {
        let folder = TemporaryFolder()
        let path = folder.path("pump")
        let sim = try await Pumpctl.start(["sim", "pump", "--link", path])
        _ = try await sim.output.line()
        let alone = try await Pumpctl.run("doctor", path)
        #expect(alone.output.contains("visible processes has the port open"), "\(alone)")
        #expect(!alone.output.contains("\(sim.processID)"))
        let holder = try await ChildProcess(["sh", "-c", "exec 3<>'\(path)'; echo ready; read x"])
        #expect(try await holder.output.line() == "ready")
        let shared = try await Pumpctl.run("doctor", path)
        #expect(shared.output.contains("open in sh (pid \(holder.processID))"), "\(shared)")
        #expect(shared.output.contains("→ end it first: kill \(holder.processID)"))
        #expect(!shared.output.contains("\(sim.processID)"))
        sim.send(signal: SIGTERM)
        _ = try await sim.ending()
    }

    @Test func `A running daemon of another version is reported`() async throws {
        let daemon = try await FakeDaemon([], programVersion: "0.0.1")
        let ending = try await Pumpctl.run("doctor", environment: ["PUMPCTLD_SOCKET": daemon.socketPath])
        #expect(ending.output.contains("warn  pumpctld is of version 0.0.1, pumpctl of "), "\(ending)")
        await daemon.close()
    }

    @Test func `Remedies are worded as commands of pumpctl`() throws {
        let address = try #require(BluetoothAddress("00:15:83:00:00:10"))
        let words: [(Remedy, String)] = [
            ("end it: kill 7", "end it: kill 7"),
            (
                .nameBySocket(endpoint: "usb:1a86:7523@1-2"),
                "keep the device in this socket, and use --port usb:1a86:7523@1-2"
            ),
            (.nameByAddress(address), "name the device by its address: --port ble:00:15:83:00:00:10"),
            (
                .nameByAddressOrForget(address, name: "HM\u{1B}Soft"),
                "name the device by its address: --port ble:00:15:83:00:00:10; if this device has replaced the first: "
                    + "pumpctl forget ble:HM\\x1bSoft"
            ),
            (
                .nameShared(endpoint: "shared:pump"),
                "use the port as before: pumpctl connects through pumpctld; or use --port shared:pump"
            ),
            (
                .leaveContainer(orGiveIt: "/run/dbus"),
                "run pumpctl on the computer itself, or give the container /run/dbus"
            ),
        ]
        for (remedy, text) in words { #expect(remedy.words == text) }
        #expect(Fact.advertisesAsExperiment(bluez: "5.47").words.hasSuffix("so 'sim --ble' does not work"))
        #expect(Fact.readsPhones.words.contains("connects to 'sim --ble'"))
    }
}
