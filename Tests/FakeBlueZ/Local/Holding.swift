public import TestSupport

/// Holds up the values that clients notify through sockets, like a busy radio. Of each socket, one value is read but
/// not sent, and the values after it are not read.
public struct Holding: Sendable {
    /// Whether values are held up, which a test sets; and the number of values that wait.
    public let state = Watched((isOn: false, count: 0))

    func hold() async {
        guard state.state.isOn else { return }
        state.update { $0.count += 1 }
        _ = try? await state.wait(for: "the end of holding", within: .seconds(300)) { $0.isOn ? nil : true }
        state.update { $0.count -= 1 }
    }
}
