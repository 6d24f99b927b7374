/// Something that can be seen of a simulated device.
public enum ObservedValue: Sendable, Hashable {
    case text(String)
    case integer(Int)
    case number(Double)
    case boolean(Bool)
}
