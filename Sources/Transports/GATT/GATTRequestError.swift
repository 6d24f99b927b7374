public import BlueZ
public import LineProtocol

/// Why a characteristic was not read, written or subscribed to.
public struct GATTRequestError: Error, Sendable, Hashable {
    /// What is in the way.
    public enum Cause: Sendable, Hashable {
        /// The device has not answered in that time; how a person may pair with it, where that may be why.
        case noAnswer(in: Duration, hint: String?)
        /// The device has refused it.
        case refused(ATTErrorCode)
        /// The flags of the characteristic do not allow a write of the kind that was asked for.
        case notWritable(GATTCharacteristic, isConfirmed: Bool?)
        /// So many bytes are too long: one write holds `limit`; one that the device confirms may hold them.
        case tooLong(byteCount: Int, limit: Int, fitsConfirmed: Bool)
        /// It can't be done at this characteristic.
        case notPossible(BLEError)
        /// The link is lost, or something else failed.
        case link(LinkError)
    }

    /// What is in the way.
    public let cause: Cause
    /// What was being done, as in `reading 2A19`.
    public let activity: String
    /// What is known of its effect.
    public let outcome: SessionError.Outcome

    init(_ cause: Cause, _ activity: String, _ outcome: SessionError.Outcome) {
        self.cause = cause
        self.activity = activity
        self.outcome = outcome
    }
}

extension GATTRequestError: CustomStringConvertible {
    public var description: String {
        switch cause {
        case .noAnswer(in: let time, hint: _): "no answer in \(time.inSeconds) s: \(activity)"
        case .refused(let error): "the device refused: \(activity): ATT error \(error)"
        case .notWritable: "\(activity): its flags do not allow such a write"
        case .tooLong(let count, let limit, fitsConfirmed: _):
            "\(activity): \(count) bytes are too long for one write, which holds \(limit)"
        case .notPossible(let error): "\(error.activity): \(error.reason)"
        case .link(let error): "\(activity): \(error)"
        }
    }
}
