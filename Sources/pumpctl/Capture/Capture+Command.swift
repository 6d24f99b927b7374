import ArgumentParser
import CaptureFormat
import DescriptorIO
import DeviceKit
import LineProtocol

extension Capture {
    /// Begins to note what goes over the links of a command, if that is asked for; nil if it is not.
    ///
    /// - Parameter isStop: Whether the command switches the device off: it waits for no file, and does without one if it must.
    /// - Throws: Why there is no file, before anything is sent.
    static func begin(
        _ options: SharedOptions, _ family: Family, isStop: Bool, _ output: Output, _ loop: EventLoop
    ) async throws(Failure) -> Capture? {
        guard let path = options.capture else { return nil }
        let capture = Capture(
            openingAt: path, by: "pumpctl \(PumpctlCommand.configuration.version)", of: family,
            clock: EventLoopClock(loop),
            onFailedOpening: { error in
                // Otherwise it is this command's failure.
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
    /// A capture can't be written or read.
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
