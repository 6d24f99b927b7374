import ArgumentParser
import DescriptorIO
import DeviceKit
import FirmwareSim
import Glibc

extension ServingOptions {
    /// Starts the program in the background, if that is asked for and this is not the one there.
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
                // What a script keeps is the process: pid=$(pumpctl sim pump --background).
                output.note("pumpctl: \(text.dropLast())")
                output.text("\(process)")
            }
            guard let errno = output.failure else { break }
            // Nobody would know of it.
            kill(process, SIGTERM)
            throw output.exit(by: Failure(standardOutput: errno))
        }
        return true
    }

    /// Where the devices are controlled; nil where they are not. With `--wait` the path is absolute, and one of this
    /// process's own unless it is named.
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
    /// Reports a failure; the exit code that goes with it.
    fileprivate func exit(by failure: Failure) -> ExitCode {
        // As with other programs, not a word is said of a reader who has gone.
        if failure.status != .brokenPipe { report(failure) }
        return ExitCode(failure.status.rawValue)
    }
}
