import DeviceKit
import LineProtocol
import Transports

/// One thing that a monitor has to show: what has happened, and what is known of the pump after it.
struct MonitorUpdate {
    /// What has happened, as programs are told of it.
    enum Event: String {
        case status, manual
        case sensorFault = "sensor_fault"
        case error, text
        case noAnswer = "no_answer"
        case notUnderstood = "not_understood"
        case refused, lost, back
    }

    var event: Event
    /// What was said, or how it went wrong.
    var text: String?
    /// What is known; nothing while the pump does not answer, however well its state was known before.
    var state: PumpState
    var isLinkUp: Bool
    var time: WallTime

    /// What is told of the pump at `endpoint`.
    init(_ update: PumpUpdate, of endpoint: Endpoint) {
        state = update.state
        isLinkUp = update.isLinkUp
        time = WallTime(update.time)
        switch update.event {
        case .status: event = .status
        case .manual(let isOn): (event, text) = (.manual, isOn ? "MANUAL:ON" : "MANUAL:OFF")
        case .sensorFault(let fault, let status): (event, text) = (.sensorFault, PumpText.skinFault(fault, status))
        case .error(let code): (event, text) = (.error, code.rawValue)
        case .text(let bytes): (event, text) = (.text, bytes.printable())
        case .unanswered(let error):
            event =
                switch error.code {
                case .refused: .refused
                case .notUnderstood: .notUnderstood
                default: .noAnswer
                }
            text = Failure(error, .pump).message
        case .lost(let error):
            (event, text) = (.lost, error.map { "\($0)" } ?? "\(endpoint.text): the link is closed")
        case .back(let before): (event, text) = (.back, MonitorText.comparison(before, update.state))
        }
    }
}
