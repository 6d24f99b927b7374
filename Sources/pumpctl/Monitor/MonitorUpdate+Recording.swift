import DeviceKit
import LineProtocol
import RecordFormat
import Transports

extension Recording {
    /// Records an update of a monitor.
    func record(_ update: MonitorUpdate, of endpoint: Endpoint) {
        let text = update.text ?? ""
        switch update.event {
        case .status: break
        case .manual, .text: record(.event(kind: update.event.rawValue, text: update.text))
        case .sensorFault: record(.error(code: update.event.rawValue, text: text))
        case .error: record(.error(code: text, text: "the pump reports \(text)"))
        case .noAnswer, .notUnderstood, .refused: record(.error(code: update.event.rawValue, text: text))
        case .lost:
            record(.error(code: "lost", text: text))
            return endSession("lost")
        case .back: beginSession(at: endpoint)
        }
        if update.state.power != .unknown, update.event != .text {
            record(.reading(kind: update.event.rawValue, Reading(update.state)))
        }
    }
}
