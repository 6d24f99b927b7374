import DeviceKit
import LineProtocol
import RecordFormat

extension SharedRecording {
    /// Ends the recording of a command, and waits up to 10 s until the records are on the disk.
    ///
    /// - Parameters:
    ///   - result: The result of the command.
    ///   - isInterrupted: Whether a signal ended the command.
    func end(_ result: Result<Void, any Error>, isInterrupted: Bool) async {
        switch result {
        case .success: await end("closed")
        case .failure where isInterrupted: await end("interrupted")
        case .failure(is CancellationError): await end("interrupted")
        case .failure(let error): await end(Self.reason(error), "\(error)")
        }
    }

    /// Returns the code to record as the reason for the end of a session.
    private static func reason(_ error: any Error) -> String {
        switch error {
        case let error as SessionError: error.code.rawValue
        case let error as LinkError: error.code.rawValue
        case let failure as Failure: failure.code
        case let error as FileError: Failure(error).code
        case let trouble as Trouble: trouble.code
        default: "failed"
        }
    }
}

extension SharedRecording.Report {
    /// The text of the report, for people.
    var text: String {
        switch self {
        case .notBegun(let trouble): "pumpctl: recording failed: \(trouble.text)\n  hint: \(trouble.hint)"
        case .begun(.failing(let trouble)):
            "pumpctl: recording is interrupted: \(trouble.text)\n  hint: \(trouble.hint)"
        case .begun(.overflowing): "pumpctl: the disk is too slow: the record is incomplete"
        case .begun(.recovered(let lost)):
            "pumpctl: recording resumed" + (lost > 0 ? "; \(lost.counted("record")) lost" : "")
        case .begun(.broken): "pumpctl: pumpctl-record has ended: recording stopped"
        case .begun(.stillWriting): "pumpctl: pumpctl-record is still writing, and continues on its own"
        case .begun(.lost(let count)): "pumpctl: \(count.counted("record")) could not be written"
        }
    }
}
