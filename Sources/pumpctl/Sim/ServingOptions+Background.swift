import ArgumentParser
import DescriptorIO
import DeviceKit
import FirmwareSim
import Glibc

extension ServingOptions {
    /// Starts the program in the background, if requested and if this process is not the background process itself.
    ///
    /// - Returns: Whether the background process was started, and its devices are ready.
    /// - Throws: `ExitCode` if the devices do not become ready, or if the process ID can't be printed.
    func startInBackground(_ output: Output) throws -> Bool {
        guard isInBackground || waits, !Self.background.isThis else { return false }
        let start: BackgroundProgram.Start
        do {
            start = try Self.background.start(["pumpctl"] + ProgramArguments.all.dropFirst())
        } catch {
            throw output.exit(
                by: Failure(
                    .ioError, code: "system", "can't start in the background: \(error)",
                    hint: "close programs you do not need, or omit --background and --wait"))
        }
        switch start {
        case .ended(let status, let text):
            output.draw(text)
            throw ExitCode(status)
        case .ready(let process, let text):
            signal(SIGPIPE, SIG_IGN)
            if output.isJSON {
                output.draw(text)
            } else {
                // A script needs the process ID: pid=$(pumpctl sim pump --background).
                output.note("pumpctl: \(text.dropLast())")
                output.text("\(process)")
            }
            guard let errno = output.failure else { break }
            // End the background process, whose ID could not be printed.
            kill(process, SIGTERM)
            throw output.exit(by: Failure(standardOutput: errno))
        }
        return true
    }

    /// Returns the path of the control socket; nil if there is none. With `--wait` the path is absolute, and by default
    /// unique to this process.
    func controlPath() throws(Failure) -> String? {
        guard waits else { return control }
        if let control { return ServingPlace.absolute(control) }
        guard let folder = RuntimeFolder.make().first else {
            throw Failure(
                .noPermission, code: "not_permitted", "there is no folder for a control socket",
                hint: "name a path: --control /tmp/pump.control")
        }
        return "\(folder)/sim-\(getpid()).control"
    }
}

extension Output {
    /// Reports a failure and returns its exit code.
    fileprivate func exit(by failure: Failure) -> ExitCode {
        // A reader that has gone is not reported, as in other programs.
        if failure.status != .brokenPipe { report(failure) }
        return ExitCode(failure.status.rawValue)
    }
}
