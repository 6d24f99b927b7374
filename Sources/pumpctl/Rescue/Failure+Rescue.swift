import DeviceKit
import LineProtocol
import RecordFormat

extension Failure {
    init(_ error: RescueStoreError) {
        self.init(Trouble(code: error.code.rawValue, text: error.text, hint: ""))
        hint = error.hint
    }
}
