internal import DescriptorIO
internal import DeviceKit
internal import LineProtocol

// The question for the state, asked at intervals on behalf of all programs that poll the device.
extension SharedDevice {
    /// The time between the answer to a question and the next question, as long as any program polls the device.
    static let pollInterval = Duration.seconds(5)

    /// Whether to ask for the state at intervals: a program polls the device, the link is open, and the family has a
    /// question.
    private var isPolled: Bool {
        isUp && settings.family.question != nil && watch.subscribers.values.contains(where: \.subscription.polls)
    }

    /// Starts to ask if a program polls the device, unless a question or the pause after it is in progress. The first
    /// question is asked at once.
    func pollIfWanted() {
        guard watch.polling == nil, isPolled else { return }
        watch.polling = Task.immediate(executorPreference: loop) { await self.poll() }
    }

    /// Stops asking, because the link is lost.
    func stopPolling() {
        watch.polling?.cancel()
        watch.polling = nil
    }

    /// Asks one question at a time until no program polls the device any more, or the task is cancelled.
    private func poll() async {
        while isPolled {
            await askForState()
            guard (try? await clock.sleep(for: Self.pollInterval)) != nil else { return }
        }
        watch.polling = nil
    }

    /// Asks for the state. The question waits behind the lines of programs that came before it, and is dropped if no
    /// program polls any more when its turn comes. Of failures in a row, only the first is reported.
    private func askForState() async {
        guard let speaker, let question = settings.family.question else { return }
        let line = row.read(Array(question.line.utf8))
        let asker = Asker(tell: { _, _ in }, isDue: { self.assumeIsolated { $0.isPolled } })
        report(.sends(line.bytes, for: "poll"))
        do throws(SessionError) {
            try await speaker.perform(line, for: noting(asker))
            checkFamily(by: nil)
            watch.hasPollFailed = false
            await lookAtState(isPolled: true)
        } catch {
            checkFamily(by: error)
            stateMayHaveChanged()
            guard !watch.hasPollFailed, ![.cancelled, .closed, .linkLost].contains(error.code) else { return }
            watch.hasPollFailed = true
            report(.failed(line.bytes, for: "poll", "\(error)"))
        }
    }
}
