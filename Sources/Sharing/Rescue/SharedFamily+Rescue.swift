internal import DeviceKit

extension SharedFamily {
    static let rescue = SharedFamily(.rescue, framing: .objects) { _, _ in RescueRules() }
}
