import ArgumentParser
import CaptureFormat
import DescriptorIO
import DeviceKit
import LineProtocol

extension Capture {
    /// Begins to note what goes over the links of a command, if that is asked for; nil if it is not.
    ///
    /// - Parameter isStop: Whether the command switches the device off: it does so without a capture if it must.
    /// - Throws: Why there is none, before anything is sent.
    static func begin(
        _ options: SharedOptions, _ family: Family, isStop: Bool, _ output: Output, _ loop: EventLoop
    ) throws(Failure) -> Capture? {
        guard let path = options.capture else { return nil }
        do throws(CaptureError) {
            return try Capture(
                at: path, by: "pumpctl \(PumpctlCommand.configuration.version)", of: family, clock: EventLoopClock(loop)
            ) { error in
                output.note(
                    "pumpctl: the capture ends here: \("\(error)".printable()); the device is not affected",
                    hint: error.hint)
            }
        } catch {
            guard isStop else { throw Failure(error, outcome: "not_sent") }
            output.note("pumpctl: nothing is captured: \("\(error)".printable())", hint: error.hint)
            return nil
        }
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
