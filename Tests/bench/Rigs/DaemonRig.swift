import Glibc
import TestSupport
import Testing

/// Our firmware on a simulated Nano behind a cable that can be unplugged, and pumpctld, which holds and shares the
/// pump.
struct DaemonRig: Sendable {
    let cable: PluggableCable
    let daemon: ChildProcess
    /// The paths of the shares: two pseudo-terminals and a Unix socket.
    let (first, second, local): (String, String, String)
    /// The address of the TCP share. It is derived from the process ID, so that no other test process uses it.
    let tcp = "127.77.\(getpid() >> 8 & 0xFF).\(getpid() & 0xFF):4000"
    /// The environment in which pumpctl finds this daemon.
    let environment: [String: String]
    private let rig: FirmwareRig
    private let folder = TemporaryFolder()

    /// Calls `body` with a rig, and ends the daemon and the board afterwards. Skips the test if the firmware can't be
    /// built here.
    static func run(_ body: (DaemonRig) async throws -> Void) async throws {
        if let reason = FirmwareBuild.reasonToSkip { try Test.cancel(Comment(rawValue: reason)) }
        let firmware = try await FirmwareRig(thermistors: 2)
        do {
            let rig = try await DaemonRig(firmware)
            do { try await body(rig) } catch {
                Issue.record("\(error); pumpctld has said: \(rig.daemon.errors.state.text.suffix(5000))")
            }
            rig.daemon.send(signal: SIGTERM)
            #expect(try await rig.daemon.ending().status == 0)
            await rig.cable.close()
        } catch {
            await firmware.stop()
            throw error
        }
        await firmware.stop()
    }

    private init(_ firmware: FirmwareRig) async throws {
        rig = firmware
        cable = try await PluggableCable(rig, path: folder.path("nano"))
        try await cable.plug()
        (first, second, local) = (folder.path("first"), folder.path("second"), folder.path("local"))
        environment = ChildProcess.surroundings.merging(["PUMPCTLD_SOCKET": folder.path("control")]) { $1 }
        let shares = ["--pty", first, "--pty", second, "--tcp", tcp, "--unix", local]
        daemon = try await ChildProcess(
            [Executable.pumpctld, "--port", cable.path] + shares, environment: environment)
        try await daemon.errors.text(upTo: "the link is open")
    }

    /// Runs pumpctl with this rig's environment, and waits for its end.
    func pumpctl(_ arguments: [String]) async throws -> ChildProcess.Ending {
        try await ChildProcess([Executable.pumpctl] + arguments, environment: environment).ending()
    }
}
