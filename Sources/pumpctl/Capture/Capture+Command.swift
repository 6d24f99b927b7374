import ArgumentParser
import CaptureFormat
import DescriptorIO
import DeviceKit
import LineProtocol

extension Capture {
    /// Starts a capture of a command's links if `--capture` is given; otherwise returns nil.
    ///
    /// - Parameter isStop: Whether the command switches the device off. Such a command does not wait for the file, and
    ///   runs without a capture if the file can't be created.
    /// - Throws: `Failure` if the file can't be created, unless `isStop`. Nothing has been sent then.
    static func begin(
        _ options: SharedOptions, _ family: Family, isStop: Bool, _ output: Output, _ loop: EventLoop
    ) async throws(Failure) -> Capture? {
        guard let path = options.capture else { return nil }
        let capture = Capture(
            openingAt: path, by: "pumpctl \(PumpctlCommand.configuration.version)", of: family,
            clock: EventLoopClock(loop),
            onFailedOpening: { error in
                // A command that does not switch the device off fails with this error, and reports it as its failure.
                guard isStop else { return }
                output.note("pumpctl: capturing failed: \("\(error)".printable())", hint: error.hint)
            }
        ) { error in
            output.note(
                "pumpctl: the capture ends here: \("\(error)".printable()); the device is not affected",
                hint: error.hint)
        }
        if !isStop {
            do throws(CaptureError) { try await capture.opened() } catch {
                throw Failure(error, outcome: "not_sent")
            }
        }
        return capture
    }
}

extension Failure {
    /// Creates the failure for a capture that can't be written or read.
    init(_ error: CaptureError, outcome: String? = nil) {
        let status: ExitStatus =
            switch error.code {
            case .exists, .newerVersion, .notACapture: .usage
            case .notFound, .noSuchLink: .noInput
            case .notPermitted: .noPermission
            case .system: .ioError
            }
        self.init(status, code: error.code.rawValue, "\(error)", hint: error.hint, outcome: outcome)
    }
}
