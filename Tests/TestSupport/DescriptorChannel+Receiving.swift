public import DescriptorIO

extension DescriptorChannel {
    /// Collects all input from now on.
    public nonisolated func receivedText() -> Watched<ReceivedText> {
        let received = Watched(ReceivedText())
        Task {
            while let bytes = try? await self.read() { received.update { $0.bytes += bytes } }
            received.update { $0.hasEnded = true }
        }
        return received
    }
}
