import DeviceKit
import LineProtocol

extension ConsoleResult {
    /// Fails if a line was refused, by this program or by the device, or not answered.
    ///
    /// - Parameter timeout: The time-out of each reply.
    func conclude(_ timeout: Duration, _ family: Family, at place: DevicePlace) throws(Failure) {
        if refusals > 0 {
            throw Failure(
                .usage, code: "usage", "not sent: \(refusals.counted("line"))", hint: "send such lines anyway: --force")
        }
        if let deviceError {
            throw Failure(
                .refused, code: "refused", "\(place.name): the device answered \(deviceError.printable())\(unsent)",
                hint: family.hint(deviceError), deviceCode: deviceError)
        }
        if let unanswered {
            throw Failure(
                .temporaryFailure, code: "no_answer",
                "\(place.name): no answer to '\(unanswered.printable(limit: 60))' in \(timeout.inSeconds) s\(unsent)",
                hint: DevicePlace.adviceOnSilence(at: place, family))
        }
    }

    /// The number of lines that were not sent, as the end of a sentence; empty if all lines were sent.
    private var unsent: String { unsentCount == 0 ? "" : "; not sent: \(unsentCount.counted("line"))" }
}

extension Failure {
    /// Creates the failure for a script whose link broke.
    init(_ error: ScriptLossError, at place: DevicePlace) {
        let count = error.unsentCount
        let lines = count == 0 ? [] : [count.counted("line")]
        let unsent = lines + (error.mayFollow ? ["the rest of the input"] : [])
        let reason = Console.loss(error.link, error.pending, at: place.name)
        self.init(
            .ioError, code: "link_lost",
            "the link broke: \(reason)" + (unsent.isEmpty ? "" : "; not sent: \(unsent.joined(separator: ", and "))"),
            hint: DevicePlace.adviceOnLoss(at: place))
    }
}
