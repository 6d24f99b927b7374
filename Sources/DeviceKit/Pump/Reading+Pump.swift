public import LineProtocol
public import RecordFormat

extension Reading {
    /// What is known of a pump. A temperature that can't be believed is there, without a value.
    public init(_ state: PumpState) { self.init(PumpFamily.values(of: state), of: .pump) }
}
