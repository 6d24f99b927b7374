import DeviceKit
import LineProtocol
import RecordFormat

extension Failure {
    /// Creates the failure for messages that can't be stored or read.
    init(_ error: RescueStoreError) {
        self.init(Trouble(code: error.code.rawValue, text: error.text, hint: ""))
        hint = error.hint
    }

    /// Creates the failure for messages that could not be sent. The messages stay pending.
    init(pending error: any Error) {
        let hint = "try again later: pumpctl rescue sync"
        switch error {
        case let error as LinkError:
            self.init(error)
            self.hint = hint + (error.hint.map { "; " + $0 } ?? "")
        case let failure as Failure: self = failure
        case let error as RescueStoreError: self.init(error)
        default: self.init(.interrupted, code: "cancelled", "interrupted; unsent messages are kept", hint: hint)
        }
        outcome = RescueStatus.pendingSync.rawValue
    }
}
