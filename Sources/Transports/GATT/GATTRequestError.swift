public import BlueZ
public import LineProtocol

/// A failed read, write or subscription of a characteristic.
public struct GATTRequestError: Error, Sendable, Hashable {
    /// The causes of failure.
    public enum Cause: Sendable, Hashable {
        /// The device did not answer within this time. `hint` tells a person how to pair, if the device is not paired.
        case noAnswer(in: Duration, hint: String?)
        /// The device refused the request with an ATT error.
        case refused(ATTErrorCode)
        /// The flags of the characteristic do not allow a write of the requested kind.
        case notWritable(GATTCharacteristic, isConfirmed: Bool?)
        /// The value has more bytes than `limit`, the most that one write holds. If `fitsConfirmed` is true, a
        /// confirmed write holds up to ``BLEDevice/longestValue`` bytes.
        case tooLong(byteCount: Int, limit: Int, fitsConfirmed: Bool)
        /// The characteristic or bluetoothd does not support the request.
        case notPossible(BLEError)
        /// The link was lost, or another failure occurred.
        case link(LinkError)
    }

    /// The cause.
    public let cause: Cause
    /// The failed activity, such as `reading 2A19`.
    public let activity: String
    /// The known effect of the request.
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
        case .refused(let error): "the device refused \(activity): ATT error \(error)"
        case .notWritable: "\(activity): the characteristic's flags do not allow this write"
        case .tooLong(let count, let limit, fitsConfirmed: _):
            "\(activity): \(count) bytes are too long for one write, which holds \(limit)"
        case .notPossible(let error): "\(error.activity): \(error.reason)"
        case .link(let error): "\(activity): \(error)"
        }
    }
}
